extension String {
    /// A text that the databases sort after the texts that begin with this one: U+10FFFF is the last code point of
    /// Unicode, and is not assigned to a character. PostgreSQL needs the collation "C" for this.
    package var endOfPrefixRange: String { self + "\u{10FFFF}" }
}
