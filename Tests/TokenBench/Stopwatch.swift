import Foundation
import Glibc

/// Measures how many times per second of CPU time one thread completes a piece of work.
struct Stopwatch {
    /// The result is the best of several rounds, because other processes can only slow a round down.
    private let rounds = 5
    /// The length of a round in seconds of CPU time.
    private let roundLength = 0.4

    /// Measures and prints the rate.
    ///
    /// - Returns: completed calls per second.
    @discardableResult
    func measure(_ name: String, _ work: () throws -> Void) throws -> Double {
        for _ in 0..<20 { try work() }
        var best = 0.0
        for _ in 0..<rounds {
            let start = Self.processorTime()
            var count = 0
            var spent = 0.0
            while spent < roundLength {
                for _ in 0..<10 { try work() }
                count += 10
                spent = Self.processorTime() - start
            }
            best = max(best, Double(count) / spent)
        }
        print(name, best)
        return best
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
