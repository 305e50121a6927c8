#pragma once
#include <sqlite3.h>

// Makes SQLite allocate pages and small values with malloc(3) and free them with free(3). SQLite would otherwise use
// two pools of its own, in which freed memory keeps its content. Must be called before the process first uses SQLite;
// a later call returns SQLITE_MISUSE and has no effect. A C function, because Swift cannot call the variadic
// sqlite3_config.
static inline int csqlite_use_no_pools(void) {
    int pages = sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, 0);
    int values = sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
    return pages != SQLITE_OK ? pages : values;
}

// Makes a connection close without a checkpoint, so that the file of the write-ahead log stays. A C function, because
// Swift cannot call the variadic sqlite3_db_config.
static inline int csqlite_keep_log_on_close(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
