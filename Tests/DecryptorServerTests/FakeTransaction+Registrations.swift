import MerchantCore
import Vocabulary

/// The decryptor's socket never asks for these.
extension FakeTransaction {
    func registration(_ partner: PartnerInternalMerchantIdentifier) throws -> Registration? {
        throw FakeStore.NotNeeded()
    }
    func registrations(
        after cursor: PartnerInternalMerchantIdentifier?, limit: Int, all: Bool
    ) throws -> [Registration] { throw FakeStore.NotNeeded() }
    func registration(naming merchant: MerchantIdentifier) throws -> PartnerInternalMerchantIdentifier? {
        throw FakeStore.NotNeeded()
    }
    func openCall(of partner: PartnerInternalMerchantIdentifier) throws -> RegistrationCall? {
        throw FakeStore.NotNeeded()
    }
    func repeatedCalls(
        of partner: PartnerInternalMerchantIdentifier, since moment: Timestamp
    ) throws -> [RegistrationCall] { throw FakeStore.NotNeeded() }
    func openCalls(after cursor: RegistrationCall?, limit: Int) throws -> [RegistrationCall] {
        throw FakeStore.NotNeeded()
    }
    func platformIntegrators(limit: Int) throws -> [MerchantIdentifier] { throw FakeStore.NotNeeded() }
    func activeIdentityKeyPairs() throws -> [KeyPair] { throw FakeStore.NotNeeded() }
    func domainFile() throws -> DomainFile? { throw FakeStore.NotNeeded() }
    func insert(_ registration: Registration) throws { throw FakeStore.NotNeeded() }
    func update(_ registration: Registration) throws { throw FakeStore.NotNeeded() }
    func open(
        _ content: RegistrationCall.Content, of partner: PartnerInternalMerchantIdentifier, requestId: String,
        at moment: Timestamp
    ) throws -> RegistrationCall { throw FakeStore.NotNeeded() }
    func close(
        _ call: RegistrationCall, _ outcome: RegistrationCall.Outcome, finding: String?, at moment: Timestamp
    ) throws { throw FakeStore.NotNeeded() }
    func store(_ file: DomainFile) throws { throw FakeStore.NotNeeded() }
}
