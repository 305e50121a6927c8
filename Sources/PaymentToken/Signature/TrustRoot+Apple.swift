import Vocabulary

extension TrustRoot {
    /// Apple Root CA - G3, the root of every payment token's certificate chain. Valid until 2039-04-30.
    ///
    /// Its SHA-256 fingerprint is 63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179.
    public static let appleRootCAG3: TrustRoot = {
        guard let root = try? TrustRoot(derRepresentation: AppleRootCertificate.g3) else {
            preconditionFailure("the constant is a valid certificate: a test compares its fingerprint")
        }
        return root
    }()
}
