import Foundation

/// The rows of `Package.swift`, which is the only copy of the module map.
struct Manifest {
    /// The arrays of the manifest, lowest row first.
    static let rowNames = ["base", "domain", "useCases", "edges", "composition", "programs"]

    let rows: [Set<String>]

    init(_ text: String) {
        rows = Self.rowNames.map { name in
            guard let start = text.range(of: "\nlet \(name): [Target] = [\n"),
                let end = text.range(of: "\n]\n", range: start.upperBound..<text.endIndex)
            else { return [] }
            let pattern = /(?:room|module|program|systemLibrary|target)\(\s*(?:name: )?"([\w-]+)"/
            return Set(text[start.upperBound..<end.lowerBound].matches(of: pattern).map { String($0.1) })
        }
    }

    func row(of target: String) -> Int? { rows.firstIndex { $0.contains(target) } }
}
