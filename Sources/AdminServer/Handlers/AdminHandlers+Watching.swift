import HTTPTypes
import MerchantCore
import MerchantOperations
import NIOCore
import Vocabulary
import WireAPI

extension AdminHandlers {
    func status() async throws -> Answer {
        try Answer(StatusDocument(try await operations.status(), version: version, startedAt: startedAt))
    }

    func healthAnswer() throws -> Answer {
        let document = health()
        return try Answer(document, status: document.ready ? .ok : .serviceUnavailable)
    }

    func metrics() async throws -> Answer {
        let status = try await operations.status()
        // The end of the year 9999: every certificate there can be ends before.
        let soonest = try await operations.repository.read {
            try $0.keyPairsExpiring(before: Timestamp(millisecondsSince1970: 253_402_300_799_000), limit: 1)
        }
        let page = MetricsPage(
            counts: status.counts, soonestEnd: soonest.first?.notAfter, rolls: status.rolls, webhooks: status.webhooks,
            rotation: try await operations.masterKeyStatus()?.rotation, requests: counter.snapshot(), version: version,
            startedAt: startedAt,
            residentBytes: ProcessMemory.residentBytes())
        return Answer(bytes: ByteBuffer(string: page.text), mediaType: "text/plain; version=0.0.4; charset=utf-8")
    }

    func contract() -> Answer {
        var answer = Answer(bytes: openAPI, mediaType: "application/yaml")
        answer.isShared = true
        return answer
    }
}
