package import Vocabulary

/// Asks a merchant whether to unregister a domain.
package struct UnregistrationPage: HTMLPage {
    private let partner: PartnerInternalMerchantIdentifier
    private let domain: String

    package let area = PageArea.domains
    package let template = PageTemplate.confirm

    /// - Parameter domain: a domain of the registration.
    package init(_ domain: String, of partner: PartnerInternalMerchantIdentifier) {
        self.domain = domain
        self.partner = partner
    }

    package func title(_ text: PageText) -> String { text.filled(.unregisterTitle, ["domain": domain]) }

    package func content(_ text: PageText) -> Any {
        ConfirmationContent(
            heading: title(text),
            facts: [ConfirmationContent.Fact(label: text[.unregisterDomain], value: domain)],
            paragraphs: [text[.unregisterBody], text[.unregisterAgain]], path: PortalPaths.unregistration,
            fields: [
                ConfirmationContent.Field(name: "partner", value: partner.rawValue),
                ConfirmationContent.Field(name: "domain", value: domain),
            ], isDangerous: true, button: text[.unregisterButton], cancelPath: PortalPaths.domains,
            cancel: text[.unregisterCancel])
    }
}
