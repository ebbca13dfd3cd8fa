"""acl.prof"""

# Written by make_stubs.py from the docstrings of the module; do not edit.
