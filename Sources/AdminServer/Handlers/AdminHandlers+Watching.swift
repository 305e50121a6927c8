import HTTPTypes
import MerchantCore
import MerchantOperations
import NIOCore
import Vocabulary
import WireAPI

extension AdminHandlers {
    func status() async throws -> Answer {
        try Answer(StatusDocument(try await operations.monitoring.status(), version: version, startedAt: startedAt))
    }

    func healthAnswer() throws -> Answer {
        let document = health()
        return try Answer(document, status: document.ready ? .ok : .serviceUnavailable)
    }

    func metrics() async throws -> Answer {
        let status = try await operations.monitoring.status()
        let soonest = try await operations.monitoring.soonestExpiry()
        let page = MetricsPage(
            counts: status.counts, soonestEnd: soonest, rolls: status.rolls, webhooks: status.webhooks,
            rotation: try await operations.masterKey.masterKeyStatus()?.rotation, requests: counter.snapshot(),
            version: version,
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
