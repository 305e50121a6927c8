import FoundationEssentials
import GRDB
import StoreCore

extension StatementArguments {
    /// Converts the parameters of a statement to SQLite's types.
    ///
    /// Uses array literals, six values at a time. GRDB converts literals with specialized code, but arrays with generic
    /// code, which takes about a microsecond longer for each statement.
    init(values arguments: Arguments) {
        func value(_ index: Int) -> DatabaseValue { arguments[index]?.stored.databaseValue ?? .null }
        self.init()
        for i in stride(from: 0, to: arguments.count, by: 6) {
            let next: StatementArguments =
                switch arguments.count - i {
                case 1: [value(i)]
                case 2: [value(i), value(i + 1)]
                case 3: [value(i), value(i + 1), value(i + 2)]
                case 4: [value(i), value(i + 1), value(i + 2), value(i + 3)]
                case 5: [value(i), value(i + 1), value(i + 2), value(i + 3), value(i + 4)]
                default: [value(i), value(i + 1), value(i + 2), value(i + 3), value(i + 4), value(i + 5)]
                }
            if i == 0 { self = next } else { self += next }
        }
    }
}

extension StoredValue {
    fileprivate var databaseValue: DatabaseValue {
        switch self {
        case .integer(let integer): integer.databaseValue
        case .text(let text): text.databaseValue
        case .bytes(let bytes): Data(bytes).databaseValue
        // SQLite has no type for truth values; they are 0 and 1.
        case .flag(let flag): flag.databaseValue
        }
    }
}
