import MerchantCore
import MerchantOperations
import Vocabulary

/// The handlers of the pages.
struct PageHandlers: Sendable {
    let operations: PortalOperations
    /// The beginning of every link to the portal; nil while the portal does not listen yet.
    let publicURL: @Sendable () -> String?
    let newInvitationLinks = NewInvitationLinks()
}
