import Foundation
import Glibc

/// Measures how many times per second of CPU time one thread completes a piece of work.
struct Stopwatch {
    /// The result is the best of several rounds, because other processes can only slow a round down.
    private let rounds = 10
    /// The length of a round in seconds of CPU time.
    private let roundLength = 0.2

    typealias Work = (name: String, run: () throws -> Void)

    /// Measures all work in turn, round by round, and prints the rates. So a machine whose speed changes during the
    /// measurement slows all work down alike, and hardly changes the ratios of the rates.
    ///
    /// - Returns: for each work, the completed calls per second.
    func measure(_ works: [Work]) throws -> [Double] {
        var best = works.map { _ in 0.0 }
        for _ in 0..<rounds {
            for (index, work) in works.enumerated() { best[index] = max(best[index], try rate(of: work)) }
        }
        for (work, rate) in zip(works, best) { print(work.name, rate) }
        return best
    }

    private func rate(of work: Work) throws -> Double {
        for _ in 0..<20 { try work.run() }
        let start = Self.processorTime()
        var count = 0
        var spent = 0.0
        while spent < roundLength {
            for _ in 0..<10 { try work.run() }
            count += 10
            spent = Self.processorTime() - start
        }
        return Double(count) / spent
    }

    func print(_ name: String, _ rate: Double) {
        let formatter = NumberFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.numberStyle = .decimal
        formatter.maximumFractionDigits = 0
        let digits = formatter.string(from: NSNumber(value: rate)) ?? "\(rate)"
        let padded = name.padding(toLength: 44, withPad: " ", startingAt: 0)
        let blanks = String(repeating: " ", count: max(0, 11 - digits.count))
        Swift.print("\(padded)\(blanks)\(digits)/s   \(String(format: "%7.1f", 1_000_000 / rate)) us")
    }

    /// The CPU time of this process, which has one busy thread, in seconds. POSIX fixes the unit of clock(3): microseconds.
    private static func processorTime() -> Double { Double(clock()) / 1_000_000 }
}
