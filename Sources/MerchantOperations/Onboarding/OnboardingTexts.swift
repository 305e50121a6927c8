import MerchantCore
import Vocabulary

/// The texts of the steps of ``OnboardingProgress``, for people at a merchant.
struct OnboardingTexts {
    let focus: OnboardingFocus

    init(_ focus: OnboardingFocus) { self.focus = focus }

    /// What was done in a completed step.
    func done(_ step: OnboardingProgress.StepName) -> String {
        switch step {
        case .keyPair: return "The key pair and its certificate signing request (CSR) exist."
        case .appleCertificate: return "Apple has issued the certificate."
        case .upload: return "The certificate was uploaded and is valid for your key pair."
        case .activation: return "The certificate is active at Apple."
        case .firstPayment: return "The first payment with this certificate has arrived."
        case .oldKeyQuiet:
            return focus.replacesKey || focus.roll != nil
                ? "No payment uses the old certificate any more." : "No old certificate is in use."
        case .done:
            let validity = focus.key?.expiry.map { "Your certificate is valid until \(Self.day($0)). " } ?? ""
            guard focus.hasReserveToCertify else { return "\(validity)There is nothing to do now." }
            return
                "\(validity)The key pair for your next certificate exists, but not the certificate: create it with the CSR of this key pair in your Apple Developer account, and upload it here. Do not activate it at Apple now."
        }
    }

    /// What must be done now.
    func next(_ next: OnboardingFocus.Next) -> String {
        switch next.step {
        case .keyPair: return "\(keyPairCause)Create a key pair to get a certificate signing request (CSR) for Apple."
        case .appleCertificate:
            return
                "Download the certificate signing request (CSR), and create a payment processing certificate with it in your Apple Developer account.\(deadline)"
        case .upload: return "Upload the certificate file (.cer) that you downloaded from Apple."
        case .activation:
            return focus.facts.policy.promotesOnFirstDecryption
                ? "Activate the new certificate in your Apple Developer account, unless Apple shows it as active already.\(deadline)"
                : "Activate the new certificate in your Apple Developer account, unless Apple shows it as active already. Then tell your payment provider, who must confirm the activation."
        case .firstPayment:
            return
                "There is nothing to do: the first payment will show that Apple uses the new certificate. To check it now, pay with Apple Pay in your own shop."
        case .oldKeyQuiet: return oldKeyQuiet(next)
        case .done:
            return next.waitingFor == .time
                ? "There is nothing to do: the old key pair will be switched off automatically."
                : "There is nothing to do for you: your payment provider will switch off the old key pair."
        }
    }

    /// What must be done in a step after the next one.
    func later(_ step: OnboardingProgress.StepName) -> String {
        switch step {
        case .keyPair: return "Create a key pair."
        case .appleCertificate:
            return
                "Create a payment processing certificate with the certificate signing request (CSR) in your Apple Developer account."
        case .upload: return "Upload the certificate file (.cer) here as soon as you have downloaded it from Apple."
        case .activation:
            return
                "Activate the certificate in your Apple Developer account, but only after you have uploaded it here. Otherwise payments fail."
        case .firstPayment: return "The first payment will show that Apple uses the certificate."
        case .oldKeyQuiet:
            return focus.replacesKey
                ? "Payments that were made with the old certificate may still arrive for some days."
                : "No old certificate is in use, so there is nothing to do."
        case .done:
            return focus.replacesKey
                ? "The old key pair is switched off when no payment uses it any more."
                : "There is nothing more to do after the steps above."
        }
    }

    private func oldKeyQuiet(_ next: OnboardingFocus.Next) -> String {
        switch next.waitingFor {
        case .admin where focus.isUsedOutsideRoll:
            return
                "Payments arrive with a certificate that your payment provider has not confirmed yet. Your payment provider must now confirm this certificate. Do not activate another certificate at Apple before that."
        case .admin where focus.key?.keyPair.state != .current:
            return
                "Payments with the new certificate arrive. Your payment provider must now confirm that the new certificate is in use."
        case .admin:
            return
                "Your payment provider must check that the old key pair is no longer used elsewhere, and then switch it off."
        case .time, .merchant, .apple, .none:
            let lastDay = focus.rollProgress?.quietAt.map {
                " If no such payment arrives, this step is done on \(Self.day($0))."
            }
            return
                "There is nothing to do: payments that were made with the old certificate may still arrive.\(lastDay ?? "")"
        }
    }

    /// Why a key pair must be created, as a sentence with a space at its end; empty if the merchant has not had a
    /// certificate yet.
    private var keyPairCause: String {
        if let end = focus.deadline {
            return
                "Your certificate \(end <= focus.facts.time.wall ? "ended" : "ends") on \(Self.day(end)) and must be replaced. "
        }
        guard let revoked = focus.revokedSince else { return "" }
        return
            "Your key pair was switched off on \(Self.day(revoked)), so payments with Apple Pay fail until you have a new one. "
    }

    /// When the step must be done at the latest, as a sentence with a space before it; empty if there is no such time.
    private var deadline: String {
        guard let end = focus.deadline else { return "" }
        return end <= focus.facts.time.wall
            ? " Your current certificate ended on \(Self.day(end)), so do this now."
            : " Do this before \(Self.day(end)), when your current certificate ends."
    }

    /// The day in UTC, such as `2026-11-21`.
    private static func day(_ time: Timestamp) -> String { String(time.rfc3339.prefix(10)) }
}
