import Foundation
import MerchantKeyClient
import StrictJSON

/// The same deed for many: a few at a time, each with a result of its own, and a progress bar on a terminal.
///
/// Each deed changes nothing where it was done before, so an interrupted run is repeated as it was.
struct BulkRun: Sendable {
    /// What became of one item.
    struct Result: Sendable {
        enum Outcome: String, Sendable { case done, unchanged, refused }

        let item: String
        let outcome: Outcome
        let detail: String
    }

    /// As many requests wait at once; they share the daemon's commits.
    private static let width = 16

    let global: GlobalOptions

    /// - Throws: ``CommandFailure`` after the report, where something was refused.
    func run<Item: Sendable>(
        _ items: [Item], named name: @Sendable (Item) -> String,
        _ deed: @escaping @Sendable (Item) async throws -> (Result.Outcome, String)
    ) async throws {
        let results = try await perform(items.map { (name($0), $0) }, deed)
        report(results)
        let refused = results.count { $0.outcome == .refused }
        global.printer.remark("\(results.count - refused) of \(results.count) done, \(refused) refused")
        guard refused == 0 else {
            throw CommandFailure(
                .refused, "\(refused) of \(results.count) were refused: see the report, then repeat the command")
        }
    }

    private func perform<Item: Sendable>(
        _ items: [(name: String, item: Item)],
        _ deed: @escaping @Sendable (Item) async throws -> (Result.Outcome, String)
    ) async throws -> [Result] {
        var bar = ProgressBar(total: items.count)
        defer { bar.end() }
        return try await withThrowingTaskGroup(of: (Int, Result).self) { tasks in
            var results = [Result?](repeating: nil, count: items.count)
            var next = 0
            func add() {
                let (index, entry) = (next, items[next])
                next += 1
                tasks.addTask {
                    do {
                        let (outcome, detail) = try await deed(entry.item)
                        return (index, Result(item: entry.name, outcome: outcome, detail: detail))
                    } catch let error as ClientError {
                        // Nobody there will answer the rest either.
                        if case .unreachable = error { throw error }
                        return (index, Result(item: entry.name, outcome: .refused, detail: "\(error)"))
                    } catch let failure as CommandFailure {
                        return (index, Result(item: entry.name, outcome: .refused, detail: failure.message))
                    }
                }
            }
            while next < min(Self.width, items.count) { add() }
            while let (index, result) = try await tasks.next() {
                results[index] = result
                bar.advance()
                if next < items.count { add() }
            }
            return results.compactMap { $0 }
        }
    }

    private func report(_ results: [Result]) {
        switch global.output {
        case .table:
            global.printer.show([
                .table(
                    headings: ["ITEM", "RESULT", "DETAIL"],
                    rows: results.map {
                        [
                            Cell($0.item), Cell($0.outcome.rawValue, $0.outcome == .refused ? .critical : .plain),
                            Cell($0.detail),
                        ]
                    })
            ])
        case .json:
            let items = results.map { result in
                JSONValue.object(
                    JSONObject(members: [
                        .init(name: "item", value: .string(result.item)),
                        .init(name: "result", value: .string(result.outcome.rawValue)),
                        .init(name: "detail", value: .string(result.detail)),
                    ]))
            }
            global.printer.json(.object(JSONObject(members: [.init(name: "items", value: .array(items))])))
        }
    }
}

/// `[#####     ] 42 of 100` on standard error, where that is a terminal.
struct ProgressBar {
    private let total: Int
    private var done = 0
    private var shown = -1

    init(total: Int) { self.total = total }

    mutating func advance() {
        done += 1
        let share = done * 40 / max(1, total)
        guard StandardStream.error.isTerminal, share != shown || done == total else { return }
        shown = share
        let bar = String(repeating: "#", count: share) + String(repeating: " ", count: 40 - share)
        StandardStream.error.write("\r[\(bar)] \(done) of \(total)")
    }

    func end() { if shown >= 0 { StandardStream.error.write("\n") } }
}
