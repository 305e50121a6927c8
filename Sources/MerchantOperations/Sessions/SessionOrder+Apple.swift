import MerchantCore
import Vocabulary

extension SessionOrder {
    /// The fields of Apple's request.
    ///
    /// - Parameter merchantIdentifier: the value of Apple's field with this name.
    func appleRequest(for merchantIdentifier: String) -> SessionRequest {
        SessionRequest(
            merchantIdentifier: merchantIdentifier, displayName: displayName, initiative: place.initiative,
            initiativeContext: place.initiativeContext, domainName: place.domainName)
    }

    /// Refuses a platform integrator's identifier, for which Apple issues no session.
    ///
    /// - Throws: `sessionMerchantWrongKind`.
    func checkKindOfMerchant() throws(MerchantError) {
        let identifier: MerchantIdentifier? =
            switch merchant {
            case .own(let merchant): merchant
            case .registered(let partner): MerchantIdentifier(text: partner.rawValue)
            }
        guard let identifier, identifier.isPlatformIntegrator else { return }
        throw MerchantError(
            .sessionMerchantWrongKind,
            "no session was requested: \(identifier) is the identifier of a platform integrator, for which Apple issues no sessions: send the partnerInternalMerchantIdentifier of the merchant that is paid"
        )
    }
}

extension SessionOrder.Merchant: CustomStringConvertible {
    package var description: String {
        switch self {
        case .own(let merchant): merchant.rawValue
        case .registered(let partner): partner.rawValue
        }
    }
}

extension SessionOrder.Place {
    var initiative: SessionInitiative {
        switch self {
        case .web: .web
        case .messaging: .messaging
        case .inApp: .inApp
        }
    }

    var initiativeContext: String {
        switch self {
        case .web(let domain): domain.rawValue
        case .messaging(let url, _): url
        case .inApp(let teamIdentifier): teamIdentifier
        }
    }

    var domainName: String? {
        if case .messaging(_, let domainName) = self { domainName.rawValue } else { nil }
    }
}
