import Foundation

/// Runs work over and over on the calling thread and tells how often a second it gets done.
struct Stopwatch {
    /// The best of so many rounds counts: what else runs on the machine only ever slows.
    private let rounds = 5
    private let round = Duration.milliseconds(400)

    /// - Returns: times a second.
    @discardableResult
    func measure(_ name: String, _ work: () throws -> Void) throws -> Double {
        for _ in 0..<20 { try work() }
        let clock = ContinuousClock()
        var best = 0.0
        for _ in 0..<rounds {
            let start = clock.now
            var count = 0
            while clock.now - start < round {
                for _ in 0..<10 { try work() }
                count += 10
            }
            best = max(best, Double(count) / ((clock.now - start) / .seconds(1)))
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
}
