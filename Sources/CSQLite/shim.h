#pragma once
#include <sqlite3.h>

// Makes SQLite take each page and each small value from malloc(3) and give it back with free(3), in place of two pools of its
// own, where what was given back stays as it was. sqlite3_config is variadic, which Swift cannot call. To be called before
// SQLite's first use in the process. Returns SQLITE_OK or SQLITE_MISUSE.
static inline int csqlite_use_no_pools(void) {
    int pages = sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, 0);
    int values = sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
    return pages != SQLITE_OK ? pages : values;
}

// Makes a connection close without carrying the write-ahead log into the database, and leave it. sqlite3_db_config is variadic.
static inline int csqlite_leave_log(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
