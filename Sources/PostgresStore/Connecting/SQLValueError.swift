import MerchantCore

/// The errors for a parameter that cannot be sent. Each is caused by a bug of the daemon, which must validate every
/// value first.
enum SQLValueError {
    static let wrongType = MerchantError(
        .internalError,
        "a value has another type than its parameter in an SQL statement, and nothing was changed: report this error")
    static let textWithNUL = MerchantError(
        .internalError,
        "a text contains the character U+0000, which PostgreSQL cannot store, and nothing was changed: remove the character"
    )
}
