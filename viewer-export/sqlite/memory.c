/* SQLite's page cache in one piece. Page by page from malloc, its faults took a fifth of an export's time. */
#include <xs/export.h>

#include "../../trace/read/table.h"
#include "schema.h"

#include <stdlib.h>

#define RECORDS_LEAST 65536u /* of fewer there is nothing to gain */
#define RECORD_BYTES 56u     /* of a database, before its indices */

static void *cache; /* SQLite has it until the process ends */

void xsv_sqlite_reserve(uint64_t records) {
    int header = 0;
    if (cache || records < RECORDS_LEAST || sqlite3_config(SQLITE_CONFIG_PCACHE_HDRSZ, &header) != SQLITE_OK)
        return;
    uint64_t most = (uint64_t)XSV_CACHE_KIB * 1024 / XSV_PAGE_BYTES;
    uint64_t pages = records < UINT64_MAX / RECORD_BYTES ? records * RECORD_BYTES / XSV_PAGE_BYTES : most;
    int count = (int)(pages < most ? pages : most), size = XSV_PAGE_BYTES + header;
    void *memory = rd_large((size_t)size * (size_t)count);
    if (memory && sqlite3_config(SQLITE_CONFIG_PAGECACHE, memory, size, count) == SQLITE_OK)
        cache = memory;
    else
        free(memory);
}
