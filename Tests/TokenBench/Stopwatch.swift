import Foundation
import Glibc

/// Runs work over and over on the calling thread and tells how often it gets done in a second of one core.
struct Stopwatch {
    /// The best of so many rounds counts: what else runs on the machine only ever slows.
    private let rounds = 5
    private let round = 0.4

    /// - Returns: times a second.
    @discardableResult
    func measure(_ name: String, _ work: () throws -> Void) throws -> Double {
        for _ in 0..<20 { try work() }
        var best = 0.0
        for _ in 0..<rounds {
            let start = Self.processorTime()
            var count = 0
            var spent = 0.0
            while spent < round {
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

    /// Seconds that this thread has had a core: what others take of it does not count.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
    }
}
