package import MerchantOperations
import Vocabulary

/// Asks a merchant whether to start a roll. Says what the roll begins with, and which step comes next.
package struct RollConfirmationPage: HTMLPage {
    private let preview: RollPreview

    package let area = PageArea.keys
    package let template = PageTemplate.confirm

    /// - Parameter preview: what starting a roll would do now.
    package init(_ preview: RollPreview) { self.preview = preview }

    package func title(_ text: PageText) -> String { text[preview == .open ? .rollOpenTitle : .rollTitle] }

    package func content(_ text: PageText) -> Any {
        let paragraphs: [String]
        switch preview {
        // The button starts no roll: it leads to the next step of the open roll.
        case .open: paragraphs = [text[.rollOpenBody]]
        case .generates: paragraphs = [text[.rollGenerated], text[.rollContinues], text[.rollApple]]
        case .pending(let hash):
            paragraphs = [
                text.filled(.rollPending, ["key": hash.base64]), text[.rollContinues], text[.rollApple],
            ]
        case .certified(let hash):
            paragraphs = [
                text.filled(.rollCertified, ["key": hash.base64]), text[.rollContinues], text[.rollApple],
            ]
        }
        return ConfirmationContent(
            heading: title(text), facts: [], paragraphs: paragraphs, path: PortalPaths.roll, fields: [],
            isDangerous: false, button: text[preview == .open ? .rollOpenButton : .rollButton],
            cancelPath: PortalPaths.home, cancel: text[.rollCancel])
    }
}
