"""The table of what the module has and belay does not run: module, name, arguments, result, C function."""

import os
import re

TABLE = os.path.join(os.path.dirname(__file__), "..", "..", "python", "acl", "absent.table")
ROWS = re.findall(r"^acl\.(\w+)\.(\w+)\((.*?)\) -> (.*) = (\w+)$", open(TABLE).read(), re.MULTILINE)
