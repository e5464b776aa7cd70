# SPDX-License-Identifier: Apache-2.0
"""Executes a program for which one system call fails: with_failing_call.py ERRNO CALL [ARGUMENT VALUE] PROGRAM...

ERRNO 0: the call does nothing and says that it succeeded. With an argument, only calls where it has this value. The filter
is inherited by everything that the program starts."""

import ctypes
import os
import sys

ALLOW, ERRNO, NO_NEW_PRIVILEGES, EQUAL = 0x7FFF0000, 0x00050000, 3, 4  # seccomp.h of libseccomp


class Comparison(ctypes.Structure):
    _fields_ = [("argument", ctypes.c_uint), ("operator", ctypes.c_int), ("value", ctypes.c_uint64), ("second", ctypes.c_uint64)]


def main():
    error, call, rest = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    comparisons = []
    while rest[0].isdigit():
        comparisons.append(Comparison(int(rest[0]), EQUAL, int(rest[1], 0), 0))
        rest = rest[2:]
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(ALLOW)))
    number = library.seccomp_syscall_resolve_name(call.encode())
    given = (Comparison * len(comparisons))(*comparisons)
    assert number >= 0, call
    assert library.seccomp_attr_set(context, NO_NEW_PRIVILEGES, 0) == 0
    assert library.seccomp_rule_add_exact_array(context, ctypes.c_uint32(ERRNO | error), number, len(comparisons), given) == 0
    assert library.seccomp_load(context) == 0
    os.execv(rest[0], rest)


main()
