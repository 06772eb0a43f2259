/* The number by which records name a source file: of its last name, so that CPU and GPU compilations agree without
 * telling each other, and small enough for the 24 bits that records have. Files of one number are told apart by
 * nobody: libxs, which gets to know their names (xs_files_known), then names all of them. */
#ifndef XS_FILE_ID_H
#define XS_FILE_ID_H

#include <xs/target.h>

#define XS_FILE_ID_MASK 0xffffffu
#define XS_FILE_ID_BASIS 0x811c9dc5u /* FNV-1a */
#define XS_FILE_ID_PRIME 0x01000193u

#if defined(__cplusplus)
#define XS_CONSTEXPR constexpr
#else
#define XS_CONSTEXPR
#endif
#if defined(__GNUC__) && !defined(__clang__) && !defined(__cplusplus) /* so that it is a constant there too */
#define XS_UNROLL_NAME _Pragma("GCC unroll 256")
#else
#define XS_UNROLL_NAME
#endif

/* Never 0, which is no file. */
XS_INLINE XS_CONSTEXPR uint32_t xs_file_id(const char *name, uint32_t length) {
    uint32_t id = XS_FILE_ID_BASIS;
    XS_UNROLL_NAME
    for (uint32_t i = 0; i < length; i++)
        id = name[i] == '/' ? XS_FILE_ID_BASIS : (id ^ (unsigned char)name[i]) * XS_FILE_ID_PRIME;
    id = (id ^ id >> 24) & XS_FILE_ID_MASK;
    return id ? id : 1;
}

#endif
