import Foundation
import MerchantTestSupport
import Testing

/// The parts of `schema/openapi.yaml` that the three Unix sockets serve, compared with the running daemon.
@Suite(.tags(.slow), .skippedInQuickRuns) struct SocketContractTests {
    @Test(
        "schemathesis finds no response of the three sockets that differs from the contract",
        .enabled(if: Schemathesis.isInstalled, "Python's package schemathesis is not installed"))
    func contract() throws {
        let script = try #require(
            Bundle.module.path(forResource: "socket_contract", ofType: "py", inDirectory: "Scripts/contract"))
        // scripts/contract-test sends more requests.
        let outcome = try Installation.run([
            "timeout", "900", "python3", script, Installation.programs, PortalContractTests.openAPI, "5",
        ])
        #expect(outcome.status == 0, "\(outcome.output.suffix(12000)) \(outcome.error)")
    }

    @Test func `the admin and the decryptor socket return the contract byte for byte`() throws {
        let installation = try Installation()
        try installation.start()
        let document = try Data(contentsOf: URL(filePath: PortalContractTests.openAPI))
        for socket in [installation.adminSocket, installation.decryptorSocket] {
            #expect(try installation.curlBody(socket, "/v1/openapi.yaml").bytes == document, "\(socket)")
        }
    }
}
