/// Passes any number of integers as one parameter of a statement: as the text of a PostgreSQL array.
enum IntegerList {
    /// - Parameter integers: nil is NULL.
    static func text(of integers: [(some BinaryInteger)?]) -> String {
        "{" + integers.map { $0.map { "\($0)" } ?? "NULL" }.joined(separator: ",") + "}"
    }

    /// An SQL expression: the parameter as a PostgreSQL array, in the same order.
    static func array(_ parameter: String) -> String { "\(parameter)::text::bigint[]" }
}
