# SPDX-License-Identifier: Apache-2.0
from ._engine import Context as Context
from ._engine import Engine as Engine
from ._engine import Entry as Entry
from ._engine import Port as Port
from ._engine import State as State
from ._engine import StopToken as StopToken
from ._engine import ThreadPool as ThreadPool
from ._engine import _load_bytes as _load_bytes
from ._engine import load as load
