"""acl.blas"""

# Written by make_stubs.py from the docstrings of the module; do not edit.

from typing import Tuple

def create_handle_for_gemm_ex(trans_a: object, trans_b: object, trans_c: object, m: object, n: object, k: object, data_type_a: object, data_type_b: object, data_type_c: object, type: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def create_handle_for_gemv_ex(trans_a: object, m: object, n: object, data_type_a: object, data_type_x: object, data_type_y: object, type: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def create_handle_for_hgemm(trans_a: object, trans_b: object, trans_c: object, m: object, n: object, k: object, type: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def create_handle_for_hgemv(trans_a: object, m: object, n: object, type: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def create_handle_for_s8gemm(trans_a: object, trans_b: object, trans_c: object, m: object, n: object, k: object, type: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def create_handle_for_s8gemv(trans_a: object, m: object, n: object, type: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def gemm_ex(trans_a: object, trans_b: object, trans_c: object, m: object, n: object, k: object, alpha: object, matrix_a: object, lda: object, data_type_a: object, matrix_b: object, ldb: object, data_type_b: object, beta: object, matrix_c: object, ldc: object, data_type_c: object, type: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def gemv_ex(trans_a: object, m: object, n: object, alpha: object, a: object, lda: object, data_type_a: object, x: object, incx: object, data_type_x: object, beta: object, y: object, incy: object, data_type_y: object, type: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def hgemm(trans_a: object, trans_b: object, trans_c: object, m: object, n: object, k: object, alpha: object, matrix_a: object, lda: object, matrix_b: object, ldb: object, beta: object, matrix_c: object, ldc: object, type: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def hgemv(trans_a: object, m: object, n: object, alpha: object, a: object, lda: object, x: object, incx: object, beta: object, y: object, incy: object, type: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def s8gemm(trans_a: object, trans_b: object, trans_c: object, m: object, n: object, k: object, alpha: object, matrix_a: object, lda: object, matrix_b: object, ldb: object, beta: object, matrix_c: object, ldc: object, type: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def s8gemv(trans_a: object, m: object, n: object, alpha: object, a: object, lda: object, x: object, incx: object, beta: object, y: object, incy: object, type: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""
