// SPDX-License-Identifier: Apache-2.0
// Creators by namespace, name and version, and what plugins share. One registry a library.
#pragma once
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tenon/trt/logging.hpp"
#include "tenon/trt/plugin_v2.hpp"

namespace tenon::trt {

/// Safe from several threads, but for lists of creators, which hold until one comes or goes.
class IPluginRegistry {
 public:
  using PluginLibraryHandle = void*;
  IPluginRegistry() = default;
  IPluginRegistry(IPluginRegistry const&) = delete;
  IPluginRegistry& operator=(IPluginRegistry const&) = delete;

  /// False: one of that namespace, name and version is there. Creators outlive their registration.
  virtual bool registerCreator(IPluginCreatorInterface& creator, AsciiChar const* pluginNamespace) noexcept = 0;
  virtual bool registerCreator(IPluginCreator& creator, AsciiChar const* pluginNamespace) noexcept = 0;
  virtual bool deregisterCreator(IPluginCreatorInterface const& creator) noexcept = 0;
  virtual bool deregisterCreator(IPluginCreator const& creator) noexcept = 0;
  /// Null: there is none.
  virtual IPluginCreatorInterface* getCreator(AsciiChar const* pluginName, AsciiChar const* pluginVersion,
                                              AsciiChar const* pluginNamespace = "") noexcept = 0;
  virtual IPluginCreator* getPluginCreator(AsciiChar const* pluginName, AsciiChar const* pluginVersion,
                                           AsciiChar const* pluginNamespace = "") noexcept = 0;
  virtual IPluginCreatorInterface* const* getAllCreators(int32_t* numCreators) const noexcept = 0;
  virtual IPluginCreatorInterface* const* getAllCreatorsRecursive(int32_t* numCreators) noexcept = 0;
  virtual IPluginCreator* const* getPluginCreatorList(int32_t* numCreators) const noexcept = 0;
  /// By what the library exports as getCreators, or else getPluginCreators: all of them, or null.
  virtual PluginLibraryHandle loadLibrary(AsciiChar const* pluginPath) noexcept = 0;
  virtual void deregisterLibrary(PluginLibraryHandle handle) noexcept = 0;
  /// The resource of that key: a clone of `resource` on the first call. Null: the clone failed.
  virtual IPluginResource* acquirePluginResource(AsciiChar const* key, IPluginResource* resource) noexcept = 0;
  /// 0: done.
  virtual int32_t releasePluginResource(AsciiChar const* key) noexcept = 0;
  virtual void setErrorRecorder(IErrorRecorder* recorder) noexcept = 0;
  virtual IErrorRecorder* getErrorRecorder() const noexcept = 0;
  /// There is no parent; the flag is kept.
  virtual bool isParentSearchEnabled() const = 0;
  virtual void setParentSearchEnabled(bool enabled) = 0;

 protected:
  virtual ~IPluginRegistry() noexcept = default;
};

namespace detail {

/// A creator of either generation.
struct Creator {
  std::string name_space;  ///< that it was registered for
  IPluginCreatorInterface* own = nullptr;
  void* library = nullptr;  ///< that brought it, by loadLibrary

  bool is_v3() const { return std::strcmp(own->getInterfaceInfo().kind, "PLUGIN CREATOR_V3ONE") == 0; }
  IPluginCreatorV3One& v3() const { return static_cast<IPluginCreatorV3One&>(*own); }
  IPluginCreator& v2() const { return static_cast<IPluginCreator&>(*own); }
  std::string name() const { return text_of(is_v3() ? v3().getPluginName() : v2().getPluginName()); }
  std::string version() const { return text_of(is_v3() ? v3().getPluginVersion() : v2().getPluginVersion()); }
  /// What it says itself.
  std::string own_name_space() const { return text_of(is_v3() ? v3().getPluginNamespace() : v2().getPluginNamespace()); }
  static std::string text_of(const char* text) { return text ? text : ""; }
  PluginFieldCollection const* fields() const { return is_v3() ? v3().getFieldNames() : v2().getFieldNames(); }
  bool is(const Creator& other) const { return name_space == other.name_space && name() == other.name() && version() == other.version(); }
  std::string text() const { return "creator '" + name() + "' version '" + version() + "' of namespace '" + name_space + "'"; }
};

class Registry final : public IPluginRegistry {
 public:
  bool registerCreator(IPluginCreatorInterface& creator, AsciiChar const* pluginNamespace) noexcept override {
    return changed([&] { return add({pluginNamespace ? pluginNamespace : "", &creator, nullptr}); });
  }
  bool registerCreator(IPluginCreator& creator, AsciiChar const* pluginNamespace) noexcept override {
    return registerCreator(static_cast<IPluginCreatorInterface&>(creator), pluginNamespace);
  }
  bool deregisterCreator(IPluginCreatorInterface const& creator) noexcept override {
    return changed([&] { return remove([&](const Creator& c) { return c.own == &creator; }); });
  }
  bool deregisterCreator(IPluginCreator const& creator) noexcept override {
    return deregisterCreator(static_cast<IPluginCreatorInterface const&>(creator));
  }

  IPluginCreatorInterface* getCreator(AsciiChar const* name, AsciiChar const* version, AsciiChar const* space) noexcept override {
    const std::lock_guard<std::mutex> held(lock_);
    for (const Creator& c : creators_)
      if (c.name_space == (space ? space : "") && c.name() == name && c.version() == version) return c.own;
    return nullptr;
  }
  IPluginCreator* getPluginCreator(AsciiChar const* name, AsciiChar const* version, AsciiChar const* space) noexcept override {
    IPluginCreatorInterface* const found = getCreator(name, version, space);
    return found && !Creator{"", found, nullptr}.is_v3() ? static_cast<IPluginCreator*>(found) : nullptr;
  }
  IPluginCreatorInterface* const* getAllCreators(int32_t* count) const noexcept override { return list(all_, count); }
  IPluginCreatorInterface* const* getAllCreatorsRecursive(int32_t* count) noexcept override { return list(all_, count); }
  IPluginCreator* const* getPluginCreatorList(int32_t* count) const noexcept override { return list(v2_, count); }

  PluginLibraryHandle loadLibrary(AsciiChar const* path) noexcept override {
    void* const handle = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (!handle) return refuse(path ? dlerror() : "loadLibrary: no path");
    if (const auto set = reinterpret_cast<void (*)(ILoggerFinder*)>(dlsym(handle, "setLoggerFinder"))) set(getLoggerFinder());
    const bool is_added = changed([&] { return add_all(exported(handle), handle); });
    if (is_added) return handle;
    dlclose(handle);
    return refuse((std::string(path) + " has no creators, or some that are registered: nothing of it is").c_str());
  }
  void deregisterLibrary(PluginLibraryHandle handle) noexcept override {
    if (handle && changed([&] { return remove([&](const Creator& c) { return c.library == handle; }); })) dlclose(handle);
  }

  IPluginResource* acquirePluginResource(AsciiChar const* key, IPluginResource* resource) noexcept override {
    if (!key || !resource) return nullptr;
    const std::lock_guard<std::mutex> held(lock_);
    Shared& shared = shared_[key];
    if (!shared.resource) shared.resource.reset(resource->clone());
    if (shared.resource) ++shared.users;
    else shared_.erase(key);
    return shared_.count(key) ? shared_[key].resource.get() : nullptr;
  }
  int32_t releasePluginResource(AsciiChar const* key) noexcept override {
    const std::lock_guard<std::mutex> held(lock_);
    const auto found = key ? shared_.find(key) : shared_.end();
    if (found == shared_.end()) return 1;
    if (--found->second.users > 0) return 0;
    const int32_t status = found->second.resource->release();
    shared_.erase(found);
    return status;
  }

  void setErrorRecorder(IErrorRecorder* recorder) noexcept override {
    if (recorder) recorder->incRefCount();
    if (recorder_) recorder_->decRefCount();
    recorder_ = recorder;
  }
  IErrorRecorder* getErrorRecorder() const noexcept override { return recorder_; }
  bool isParentSearchEnabled() const override { return parent_search_; }
  void setParentSearchEnabled(bool enabled) override { parent_search_ = enabled; }

  /// As they were registered.
  std::vector<Creator> creators() const {
    const std::lock_guard<std::mutex> held(lock_);
    return creators_;
  }

  /// What a library exports, each once. base: where it lies in memory, as what it depends on may export the same; null: anywhere.
  static std::vector<IPluginCreatorInterface*> exported(void* handle, const void* base = nullptr) {
    std::vector<IPluginCreatorInterface*> out;
    const auto take = [&](IPluginCreatorInterface* creator) {
      if (creator && std::find(out.begin(), out.end(), creator) == out.end()) out.push_back(creator);
    };
    int32_t count = 0;
    if (const auto get = reinterpret_cast<IPluginCreatorInterface* const* (*)(int32_t&)>(symbol(handle, "getCreators", base)))
      for (auto* const* made = get(count); count > 0; --count) take(*made++);
    count = 0;
    if (const auto get = reinterpret_cast<IPluginCreator* const* (*)(int32_t&)>(symbol(handle, "getPluginCreators", base)))
      for (auto* const* made = get(count); count > 0; --count) take(*made++);
    return out;
  }
  static void* symbol(void* handle, const char* name, const void* base) {
    void* const found = dlsym(handle, name);
    Dl_info info;
    return found && base && (!dladdr(found, &info) || info.dli_fbase != base) ? nullptr : found;
  }

 private:
  struct Shared {
    std::unique_ptr<IPluginResource> resource;
    int64_t users = 0;
  };
  static constexpr size_t kLongestName = 1023;

  static void* refuse(const char* text) {
    getLogger()->log(ILogger::Severity::kERROR, text);
    return nullptr;
  }
  template <class T>
  static T* const* list(const std::vector<T*>& all, int32_t* count) {
    if (count) *count = static_cast<int32_t>(all.size());
    return all.empty() ? nullptr : all.data();
  }

  /// Changes creators under the lock, then the lists of them. False: nothing changed, or there was no memory.
  template <class Change>
  bool changed(Change&& change) noexcept {
    try {
      const std::lock_guard<std::mutex> held(lock_);
      if (!change()) return false;
      all_.clear();
      v2_.clear();
      for (const Creator& c : creators_) {
        all_.push_back(c.own);
        if (!c.is_v3()) v2_.push_back(&c.v2());
      }
      return true;
    } catch (...) { return false; }
  }

  bool add(Creator creator) {
    if (creator.name().size() > kLongestName || creator.version().size() > kLongestName || creator.name_space.size() > kLongestName)
      return false;
    for (const Creator& c : creators_)
      if (c.is(creator)) return false;
    creators_.push_back(std::move(creator));
    return true;
  }
  bool add_all(const std::vector<IPluginCreatorInterface*>& made, void* handle) {
    const std::vector<Creator> before = creators_;
    for (IPluginCreatorInterface* const own : made) {
      Creator creator{"", own, handle};
      creator.name_space = creator.own_name_space();
      if (add(std::move(creator))) continue;
      creators_ = before;
      return false;
    }
    return !made.empty();
  }
  template <class Is>
  bool remove(Is&& is) {
    const size_t before = creators_.size();
    for (size_t k = creators_.size(); k-- > 0;)
      if (is(creators_[k])) creators_.erase(creators_.begin() + static_cast<std::ptrdiff_t>(k));
    return creators_.size() < before;
  }

  mutable std::mutex lock_;
  std::vector<Creator> creators_;
  std::vector<IPluginCreatorInterface*> all_;
  std::vector<IPluginCreator*> v2_;
  std::map<std::string, Shared> shared_;
  IErrorRecorder* recorder_ = nullptr;
  bool parent_search_ = true;
};

/// Never destroyed: creators may be gone by then.
TENON_TRT_OWN inline Registry& registry() {
  static Registry& own = *new Registry;
  return own;
}

}  // namespace detail

TENON_TRT_OWN inline IPluginRegistry* getPluginRegistry() noexcept { return &detail::registry(); }

template <typename T>
class PluginRegistrar {
 public:
  PluginRegistrar() { getPluginRegistry()->registerCreator(static_cast<IPluginCreatorInterface&>(instance), ""); }

 private:
  T instance{};
};

}  // namespace tenon::trt

#define REGISTER_TENSORRT_PLUGIN(name) \
  static ::tenon::trt::PluginRegistrar<name> pluginRegistrar##name {}
