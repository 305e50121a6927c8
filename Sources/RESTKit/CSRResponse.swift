package import HTTPTypes
package import MerchantCore
package import MerchantOperations
import NIOCore
import Vocabulary
import WireAPI

extension RESTResponse {
    /// A response with the CSR (PKCS#10) of a key pair, as a file to save. The format is PEM, or DER if the header
    /// `Accept` names `application/pkcs10` and does not name `application/x-pem-file` earlier.
    ///
    /// - Parameters:
    ///   - view: the key pair, read with its CSR.
    ///   - headers: the header fields of the request.
    /// - Throws: `notFound` if the key pair has no CSR.
    package init(csrOf view: KeyView, for headers: HTTPFields) throws(MerchantError) {
        let (merchant, hash) = (view.keyPair.merchantIdentifier, view.keyPair.publicKeyHash)
        guard let der = view.certificateSigningRequest else {
            throw MerchantError(.notFound, "key \(hash) has no CSR")
        }
        if Self.prefersDER(headers) {
            self.init(bytes: ByteBuffer(bytes: der), mediaType: "application/pkcs10")
        } else {
            self.init(
                bytes: ByteBuffer(string: PEM.encode(der, label: "CERTIFICATE REQUEST")),
                mediaType: "application/x-pem-file")
        }
        self.headers[.contentDisposition] =
            "attachment; filename=\"\(merchant)-\(hash.hex.prefix(8)).certSigningRequest\""
        self.merchant = merchant
        key = hash
    }

    /// Whether `application/pkcs10` is the first supported media type in `Accept`. Quality values are ignored.
    private static func prefersDER(_ headers: HTTPFields) -> Bool {
        let mediaTypes = headers[values: .accept].flatMap { $0.split(separator: ",") }.map { mediaType in
            mediaType.prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased()
        }
        return mediaTypes.first { $0 == "application/pkcs10" || $0 == "application/x-pem-file" } == "application/pkcs10"
    }
}
