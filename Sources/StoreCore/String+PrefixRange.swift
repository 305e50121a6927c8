extension String {
    /// A text that the databases sort after all texts that begin with this one. U+10FFFF is the last code point of
    /// Unicode, and is not assigned to a character. In PostgreSQL, the column must have the collation "C".
    package var endOfPrefixRange: String { self + "\u{10FFFF}" }
}
