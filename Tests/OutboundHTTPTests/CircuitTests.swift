import OutboundHTTP
import Testing

@Suite struct CircuitTests {
    private let start = ContinuousClock.now
    private var circuit = Circuit<ContinuousClock.Instant>(
        .init(failuresToOpen: 3, pause: Backoff(first: .seconds(30), longest: .seconds(100))))

    private func time(_ seconds: Int) -> ContinuousClock.Instant { start.advanced(by: .seconds(seconds)) }

    private mutating func open() {
        for _ in 0..<3 {
            _ = circuit.admit(at: start)
            circuit.failed(at: start)
        }
    }

    @Test mutating func `failures in a row open the circuit, and failures with a success between them do not`() {
        for _ in 0..<2 { circuit.failed(at: start) }
        circuit.succeeded()
        for _ in 0..<2 { circuit.failed(at: start) }
        #expect(circuit.isClosed && circuit.openUntil == nil)
        circuit.failed(at: start)
        #expect(!circuit.isClosed && circuit.openUntil == time(30))
        #expect(circuit.admit(at: time(10)) == .refused(for: .seconds(20)))
    }

    @Test mutating func `after the pause one call is the probe, and its success closes the circuit`() {
        open()
        #expect(circuit.admit(at: time(30)) == .admitted)
        #expect(circuit.admit(at: time(31)) == .probing)
        circuit.succeeded()
        #expect(circuit.isClosed && circuit.admit(at: time(31)) == .admitted)
    }

    @Test mutating func `each failed probe doubles the pause up to the longest`() {
        open()
        var now = 30
        for pause in [60, 100, 100] {
            #expect(circuit.admit(at: time(now)) == .admitted)
            circuit.failed(at: time(now))
            #expect(circuit.openUntil == time(now + pause))
            now += pause
        }
    }

    @Test
    mutating func
        `a call from before the opening changes nothing when it fails, and closes the circuit when it succeeds`()
    {
        open()
        circuit.failed(at: time(10))
        #expect(circuit.openUntil == time(30))
        circuit.succeeded()
        #expect(circuit.isClosed)
    }

    @Test mutating func `a probe that its caller gave up lets the next call probe at once`() {
        open()
        _ = circuit.admit(at: time(30))
        circuit.abandoned(at: time(31))
        #expect(circuit.admit(at: time(31)) == .admitted)
        circuit.failed(at: time(31))
        #expect(circuit.openUntil == time(91))
    }
}
