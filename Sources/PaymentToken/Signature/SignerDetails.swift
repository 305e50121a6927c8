/// The properties of a token's signer that the checks of environment and signing time need.
struct SignerDetails {
    let signingTime: ASN1Time
    /// The common names of the signing certificate's subject.
    let commonNames: [String]
}
