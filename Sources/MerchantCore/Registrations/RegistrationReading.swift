package import Vocabulary

/// Reads, in a transaction of the store, the records of registrations and of calls to Apple, and the domain
/// verification file.
///
/// A registration is identified by the platform's own name for a merchant (``PartnerInternalMerchantIdentifier``). The
/// registration may belong to a merchant of this daemon, which has a ``MerchantIdentifier``.
package protocol RegistrationReading {
    func registration(_ identifier: PartnerInternalMerchantIdentifier) throws -> Registration?
    /// Registrations sorted by identifier, starting after `cursor`.
    ///
    /// - Parameter all: if true, also returns registrations that were unregistered or never confirmed: Apple may still
    ///   have a record of these.
    func registrations(
        after cursor: PartnerInternalMerchantIdentifier?, limit: Int, all: Bool
    ) throws -> [Registration]
    /// The registrations that belong to the merchant, oldest first, starting after `cursor`. A registration is included
    /// if it has an open call, or a domain that is desired or registered at Apple.
    func registrations(
        of merchant: MerchantIdentifier, after cursor: PartnerInternalMerchantIdentifier?, limit: Int
    ) throws -> [Registration]
    /// The identifier of a registration that has the merchant as `merchantIdentifier` or `encryptTo`, and a domain that
    /// is desired or registered at Apple. The values that an open call would set count too, even without a domain. nil
    /// if there is no such registration.
    func registration(naming merchant: MerchantIdentifier) throws -> PartnerInternalMerchantIdentifier?
    /// The registration's call to Apple whose outcome is unknown; nil if there is none.
    func openCall(of identifier: PartnerInternalMerchantIdentifier) throws -> RegistrationCall?
    /// The registration's calls with the outcome `repeated` that were stored after `time`. Such a call was sent to
    /// Apple again, because an attempt received no response. That attempt may still reach Apple.
    func repeatedCalls(
        of identifier: PartnerInternalMerchantIdentifier, since time: Timestamp
    ) throws -> [RegistrationCall]
    /// The open calls of all registrations, in a stable order, starting after `cursor`. The outcome of an open call is
    /// unknown.
    func openCalls(after cursor: RegistrationCall?, limit: Int) throws -> [RegistrationCall]
    func domainFile() throws -> DomainFile?
}

/// Reads and changes, in a transaction of the store, the records of registrations and of calls to Apple, and the domain
/// verification file.
package protocol RegistrationWriting: RegistrationReading {
    func insert(_ registration: Registration) throws
    /// Writes every field except the identifier and the time of creation.
    func update(_ registration: Registration) throws
    /// Stores a call that will be sent to Apple. The call is open until ``close(_:_:finding:at:)``.
    ///
    /// - Throws: `registrationConflict` while another call of the same registration is open.
    func open(
        _ content: RegistrationCall.Content, of identifier: PartnerInternalMerchantIdentifier, requestId: String,
        at time: Timestamp
    ) throws -> RegistrationCall
    /// Stores the outcome of an open call.
    ///
    /// - Parameter finding: how the outcome became known, or the reason for Apple's refusal.
    func close(
        _ call: RegistrationCall, _ outcome: RegistrationCall.Outcome, finding: String?, at time: Timestamp
    ) throws
    func store(_ file: DomainFile) throws
}
