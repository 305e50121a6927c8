/// A card network, under the name that `networkName` of the card data and the requests to the daemon contain.
public enum ProvisioningNetwork: String, CaseIterable, Sendable {
    /// Mastercard.
    case mastercard = "Mastercard"
    /// Maestro, a debit network of Mastercard.
    case maestro = "Maestro"
    /// Visa.
    case visa = "Visa"
    /// Visa Electron, a debit network of Visa.
    case visaElectron = "Visa Electron"
    /// V Pay, a debit network of Visa.
    case vPay = "V Pay"
    /// American Express.
    case americanExpress = "American Express"
    /// Discover.
    case discover = "Discover"

    /// The company that operates the network.
    enum Company: Sendable {
        case mastercard
        case visa
        case americanExpress
        case discover
    }

    var company: Company {
        switch self {
        case .mastercard, .maestro: .mastercard
        case .visa, .visaElectron, .vPay: .visa
        case .americanExpress: .americanExpress
        case .discover: .discover
        }
    }

    /// The lengths of the network's card numbers in digits.
    ///
    /// Sources: ISO/IEC 7812-1, which permits at most 19 digits; the networks' rules for their own ranges.
    var cardNumberLengths: [Int] {
        switch self {
        case .mastercard: [16]
        case .maestro: Array(12...19)
        case .visa: [13, 16, 19]
        case .visaElectron: [16]
        case .vPay: Array(13...19)
        case .americanExpress: [15]
        case .discover: Array(16...19)
        }
    }
}
