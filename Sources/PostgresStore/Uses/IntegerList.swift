/// A parameter of a statement that has any number of integers: an array of PostgreSQL as text.
enum IntegerList {
    /// - Parameter integers: nil is NULL.
    static func text(of integers: [(some BinaryInteger)?]) -> String {
        "{" + integers.map { $0.map { "\($0)" } ?? "NULL" }.joined(separator: ",") + "}"
    }

    /// The integers as an array of PostgreSQL, in their order.
    static func array(_ parameter: String) -> String { "\(parameter)::text::bigint[]" }
}
