import StoreCore

/// The conditions of a query that depend on its caller's filter, and the values of their parameters.
struct Conditions {
    private var texts: [String] = []
    private(set) var arguments: Arguments = []

    /// Adds `expression` followed by a parameter, unless there is no value: `("sequence >", 5)` adds `sequence > $1`.
    mutating func add(_ expression: String, _ value: (any SQLValue)?) {
        guard let value else { return }
        texts.append("\(expression) \(parameter(value))")
    }

    mutating func add(_ condition: String) { texts.append(condition) }

    /// Adds a value, and returns its name in the query, such as `$2`.
    mutating func parameter(_ value: any SQLValue) -> String {
        arguments.append(value)
        return "$\(arguments.count)"
    }

    /// The clause `WHERE` with all conditions; empty if there is no condition.
    var clause: String { texts.isEmpty ? "" : "WHERE \(texts.joined(separator: " AND "))" }
}
