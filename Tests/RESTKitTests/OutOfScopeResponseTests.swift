import MerchantCore
import RESTKit
import ServerKit
import Testing
import Vocabulary

@Suite struct OutOfScopeResponseTests {
    /// A caller with the permit for one merchant.
    private let caller = Sample.peer([.onboard], for: [Sample.merchant])
    private let notFound = MerchantError.keyNotFound(Sample.otherKey)

    private func refusal(
        _ response: OutOfScopeResponse, of peer: Peer, for owner: MerchantIdentifier?
    ) -> MerchantError? {
        do throws(MerchantError) {
            try response.check(.onboard, of: peer, for: owner, notFound: notFound)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a caller with the permit for the owner is not refused`() {
        for response in [OutOfScopeResponse.forbidden, .notFound] {
            #expect(refusal(response, of: caller, for: Sample.merchant) == nil)
            #expect(refusal(response, of: Sample.peer([.onboard]), for: Sample.other) == nil)
            #expect(refusal(response, of: Sample.peer([.onboard]), for: nil) == nil)
        }
    }

    @Test func `another merchant's resource, and one that no merchant owns, is forbidden or not found`() {
        for owner in [Sample.other, nil] {
            #expect(refusal(.forbidden, of: caller, for: owner)?.code == .forbidden)
            #expect(refusal(.notFound, of: caller, for: owner) == notFound)
        }
    }

    @Test func `a caller with the permit for no merchant is always forbidden, and the error names the permit`() {
        for response in [OutOfScopeResponse.forbidden, .notFound] {
            let found = refusal(response, of: Sample.peer([.read]), for: Sample.merchant)
            #expect(found?.code == .forbidden && found?.detail.contains("'onboard'") == true)
        }
    }

    @Test func `the error for an unknown path parameter equals the error of the use case`() async throws {
        let handlers = HidingHandlers()
        await #expect(throws: Sample.unknownKey.notFoundError) { try await Sample.unknownKey.owner(handlers) }
        let roll = try #require(RollNumber(text: "7"))
        await #expect(throws: roll.notFoundError) { try await roll.owner(handlers) }
        #expect(Sample.other.notFoundError == .merchantNotFound(Sample.other))
        #expect(Sample.partner.notFoundError == .registrationNotFound(Sample.partner))
    }
}
