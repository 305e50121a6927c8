import SwiftASN1

/// The extension by which Apple marks the leaf certificates of in-app provisioning.
enum ProvisioningExtension {
    /// 1.2.840.113635.100.6.39. It must be critical, and its value must be NULL.
    static let marker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 39]
    static let markerText = "1.2.840.113635.100.6.39"
    /// NULL in DER.
    static let markerValue: [UInt8] = [0x05, 0x00]
}
