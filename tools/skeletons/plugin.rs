// SPDX-License-Identifier: Apache-2.0
// mine::Skeleton, y = scale * x. What is to be changed: struct Skeleton and its functions, and what stands in `tenon_plugin_library`.
//
//   rustc --edition 2021 -O --crate-type cdylib skeleton.rs -o skeleton.so
//   tenon plugin test ./skeleton.so
//   tenon build model.onnx --plugin ./skeleton.so -o model.tenon       where a node is of the domain "mine" and the op "Skeleton"

use std::ffi::{CStr, CString};
use std::mem::size_of;
use std::os::raw::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::null;

use tenon::*;

/// One node.
struct Skeleton {
    scale: f32,
}

impl Skeleton {
    /// Fields are those that are declared below, in that order, with defaults filled in and ranges checked.
    unsafe fn new(node: &Node) -> Result<Self, String> {
        let scale = &**node.fields;
        Ok(Skeleton { scale: *(scale.data as *const f32) })
    }

    /// The type of y, by that of x; sizes may be symbols.
    unsafe fn infer(&self, types: &Inference) -> Result<(), String> {
        let (x, y) = (&**types.operands, &mut **types.results);
        if x.rank < 0 {
            return Err("the rank of x is not known".into());
        }
        y.dtype = x.dtype;
        y.rank = x.rank;
        std::ptr::copy_nonoverlapping(x.sizes, y.sizes, x.rank as usize);
        Ok(())
    }

    unsafe fn enqueue(&self, call: &Call) -> Result<(), String> {
        let (x, y) = (&**call.operands, &**call.results);
        let count: i64 = (0..x.rank as usize).map(|axis| *x.sizes.add(axis)).product();
        let piece = Piece { x: x.data as *const f32, y: y.data as *mut f32, scale: self.scale };
        match (call.parallel_for)(call, count, 4096, compute, &piece as *const Piece as *mut c_void) {
            OK => Ok(()),
            _ => Err("it was stopped".into()),
        }
    }
}

struct Piece {
    x: *const f32,
    y: *mut f32,
    scale: f32,
}

/// Elements begin .. end, on one of the engine's threads.
unsafe extern "C" fn compute(piece: *mut c_void, begin: i64, end: i64, _thread: i32) {
    let piece = &*(piece as *const Piece);
    for k in begin as usize..end as usize {
        *piece.y.add(k) = piece.scale * *piece.x.add(k);
    }
}

// ---- What calls them: a panic is an error of the run, and ends no process --------------------------------------------------------

unsafe fn answer(host: *const Host, act: impl FnOnce() -> Result<(), String>) -> i32 {
    let text = match catch_unwind(AssertUnwindSafe(act)) {
        Ok(Ok(())) => return OK,
        Ok(Err(text)) => text,
        Err(_) => "it panicked".into(),
    };
    let text = CString::new(text).unwrap_or_default();
    ((*host).fail)(host, FAILED, text.as_ptr())
}

/// An object, and the host that takes its errors.
struct Held {
    host: *const Host,
    skeleton: Skeleton,
}

unsafe extern "C" fn create(host: *const Host, node: *const Node, out: *mut *mut c_void) -> i32 {
    answer(host, || {
        let held = Held { host, skeleton: Skeleton::new(&*node)? };
        *out = Box::into_raw(Box::new(held)) as *mut c_void;
        Ok(())
    })
}

unsafe extern "C" fn destroy(held: *mut c_void) {
    drop(Box::from_raw(held as *mut Held));
}

unsafe extern "C" fn infer(held: *mut c_void, types: *mut Inference) -> i32 {
    let held = &*(held as *const Held);
    answer(held.host, || held.skeleton.infer(&*types))
}

unsafe extern "C" fn enqueue(held: *mut c_void, call: *const Call) -> i32 {
    let held = &*(held as *const Held);
    answer(held.host, || held.skeleton.enqueue(&*call))
}

fn text(with_zero: &'static [u8]) -> *const c_char {
    CStr::from_bytes_with_nul(with_zero).unwrap().as_ptr()
}

/// Lives as long as the process, as everything that a library tells.
fn kept<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

#[no_mangle]
pub extern "C" fn tenon_plugin_library(_host: *const Host) -> *const Library {
    let x = kept(Port { size: size_of::<Port>(), name: text(b"x\0"), dtypes: 1 << F32 });
    let y = kept(Port { size: size_of::<Port>(), name: text(b"y\0"), dtypes: 0 });
    let scale = kept(Rule {
        size: size_of::<Rule>(),
        name: text(b"scale\0"),
        kind: FIELD_F32,
        length: 1,
        otherwise: kept(1.0f32) as *const f32 as *const c_void,
    });
    let samples = kept([text(b"f32[2,3]\0"), text(b"f32[0,5]; scale=2.5\0"), text(b"f32[]; scale=-1.0\0")]);
    let op = kept(Op {
        size: size_of::<Op>(),
        name_space: text(b"mine\0"),
        name: text(b"Skeleton\0"),
        version: text(b"1\0"),
        docs: text(b"scale * x\0"),
        operand_count: 1,
        operands: kept(x as *const Port),
        result_count: 1,
        results: kept(y as *const Port),
        field_count: 1,
        fields: kept(scale as *const Rule),
        sample_count: 3,
        samples: samples.as_ptr(),
        // What it computes, in ops of ONNX: what it is tested against.
        expression: text(b"Mul(x, scale)\0"),
        kernel_of: null(),
        flags: [0; 3],
        create: Some(create),
        destroy: Some(destroy),
        infer: Some(infer),
        define: null(),
        supports: null(),
        configure: null(),
        tactics: null(),
        workspace: null(),
        save: null(),
        add_graphs: null(),
        attach: null(),
        shapes_changed: null(),
        enqueue: Some(enqueue),
    });
    kept(Library {
        size: size_of::<Library>(),
        needs: 1,
        name: text(b"skeleton\0"),
        version: text(b"1.0\0"),
        op_count: 1,
        ops: kept(op as *const Op),
    })
}

/// What this file needs of tenon/plugin.h, which tells the rest. A struct may end before the header's does: what is behind is taken for 0.
#[allow(dead_code)]
mod tenon {
    use std::os::raw::{c_char, c_void};

    pub const OK: i32 = 0;
    pub const FAILED: i32 = 1;
    pub const F32: i32 = 1;
    pub const FIELD_F32: i32 = 1;

    #[repr(C)]
    pub struct Host {
        pub size: usize,
        pub version: u32,
        pub log: unsafe extern "C" fn(*const Host, i32, *const c_char),
        pub fail: unsafe extern "C" fn(*const Host, i32, *const c_char) -> i32,
    }

    #[repr(C)]
    pub struct Tensor {
        pub size: usize,
        pub dtype: i32,
        pub layout: i32,
        pub rank: i32,
        pub sizes: *const i64,
        pub strides: *const i64,
        pub data: *mut c_void,
    }

    #[repr(C)]
    pub struct Type {
        pub size: usize,
        pub dtype: i32,
        pub rank: i32,
        pub sizes: *mut u64,
    }

    #[repr(C)]
    pub struct Field {
        pub size: usize,
        pub name: *const c_char,
        pub kind: i32,
        pub length: i64,
        pub data: *const c_void,
    }

    #[repr(C)]
    pub struct Rule {
        pub size: usize,
        pub name: *const c_char,
        pub kind: i32,
        pub length: i64,
        pub otherwise: *const c_void,
    }

    #[repr(C)]
    pub struct Port {
        pub size: usize,
        pub name: *const c_char,
        pub dtypes: u32,
    }

    #[repr(C)]
    pub struct Node {
        pub size: usize,
        pub phase: i32,
        pub name: *const c_char,
        pub field_count: u32,
        pub fields: *const *const Field,
    }

    #[repr(C)]
    pub struct Inference {
        pub size: usize,
        pub host: *const Host,
        pub operand_count: u32,
        pub operands: *const *const Type,
        pub result_count: u32,
        pub results: *const *mut Type,
    }

    pub type Body = unsafe extern "C" fn(*mut c_void, i64, i64, i32);

    #[repr(C)]
    pub struct Call {
        pub size: usize,
        pub host: *const Host,
        pub operand_count: u32,
        pub operands: *const *const Tensor,
        pub result_count: u32,
        pub results: *const *const Tensor,
        pub workspace: *mut c_void,
        pub tactic: i32,
        pub threads: i32,
        pub parallel_for: unsafe extern "C" fn(*const Call, i64, i64, Body, *mut c_void) -> i32,
        pub stopped: unsafe extern "C" fn(*const Call) -> i32,
    }

    #[repr(C)]
    pub struct Op {
        pub size: usize,
        pub name_space: *const c_char,
        pub name: *const c_char,
        pub version: *const c_char,
        pub docs: *const c_char,
        pub operand_count: u32,
        pub operands: *const *const Port,
        pub result_count: u32,
        pub results: *const *const Port,
        pub field_count: u32,
        pub fields: *const *const Rule,
        pub sample_count: u32,
        pub samples: *const *const c_char,
        pub expression: *const c_char,
        pub kernel_of: *const c_char,
        pub flags: [i32; 3],
        pub create: Option<unsafe extern "C" fn(*const Host, *const Node, *mut *mut c_void) -> i32>,
        pub destroy: Option<unsafe extern "C" fn(*mut c_void)>,
        pub infer: Option<unsafe extern "C" fn(*mut c_void, *mut Inference) -> i32>,
        pub define: *const c_void,
        pub supports: *const c_void,
        pub configure: *const c_void,
        pub tactics: *const c_void,
        pub workspace: *const c_void,
        pub save: *const c_void,
        pub add_graphs: *const c_void,
        pub attach: *const c_void,
        pub shapes_changed: *const c_void,
        pub enqueue: Option<unsafe extern "C" fn(*mut c_void, *const Call) -> i32>,
    }

    #[repr(C)]
    pub struct Library {
        pub size: usize,
        pub needs: u32,
        pub name: *const c_char,
        pub version: *const c_char,
        pub op_count: u32,
        pub ops: *const *const Op,
    }
}
