package import MerchantCore
package import WireAPI

extension InputFindingDocument {
    package init(_ finding: InputFinding) {
        self.init(code: finding.code, message: finding.message, action: finding.action)
    }
}
