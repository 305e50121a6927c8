/// One row of a table that displays payment data.
public struct MaskedField: Sendable, Hashable {
    /// The path of the field, such as `paymentData.eciIndicator`.
    public let name: String
    /// The value, masked if it is sensitive.
    public let value: String
}

extension PaymentData {
    /// The fields that are present, masked for display. The account number is masked as in
    /// ``SensitiveText/maskedAccountNumber``. Of cryptograms, EMV data, encrypted PINs, the name of the cardholder and
    /// unknown fields, only the length is visible. Of the images of the card, only the URLs are listed.
    public var maskedFields: [MaskedField] {
        var rows: [MaskedField] = []
        func add(_ name: String, _ value: String?) {
            if let value { rows.append(MaskedField(name: name, value: value)) }
        }
        func addUnknown(_ path: String, _ fields: [UnknownField]) {
            for field in fields { add(path + field.name, field.json.masked) }
        }
        add("applicationPrimaryAccountNumber", applicationPrimaryAccountNumber.maskedAccountNumber)
        add("applicationExpirationDate", applicationExpirationDate)
        add("currencyCode", currencyCode)
        add("transactionAmount", transactionAmount.text)
        add("cardholderName", cardholderName?.masked)
        add("deviceManufacturerIdentifier", deviceManufacturerIdentifier)
        add("paymentDataType", paymentDataType)
        add("paymentData.onlinePaymentCryptogram", proof.onlinePaymentCryptogram?.masked)
        add("paymentData.eciIndicator", proof.eciIndicator)
        add("paymentData.emvData", proof.emvData?.masked)
        add("paymentData.encryptedPINData", proof.encryptedPINData?.masked)
        addUnknown("paymentData.", proof.unknownFields)
        for (index, response) in authenticationResponses.enumerated() {
            let path = "authenticationResponses[\(index)]."
            add(path + "merchantIdentifier", response.merchantIdentifier)
            add(path + "authenticationData", response.authenticationData.masked)
            add(path + "transactionAmount", response.transactionAmount.text)
            addUnknown(path, response.unknownFields)
        }
        add("merchantTokenIdentifier", merchantTokenIdentifier)
        if let metadata = merchantTokenMetadata {
            for (index, art) in metadata.cardArt.enumerated() {
                add("merchantTokenMetadata.cardArt[\(index)].url", art.url)
            }
            let path = "merchantTokenMetadata.cardMetadata."
            add(path + "cardCountry", metadata.cardMetadata?.cardCountry)
            add(path + "expirationDate", metadata.cardMetadata?.expirationDate)
            add(path + "fpanSuffix", metadata.cardMetadata?.fpanSuffix)
            add(path + "longDescription", metadata.cardMetadata?.longDescription)
            add(path + "shortDescription", metadata.cardMetadata?.shortDescription)
            addUnknown(path, metadata.cardMetadata?.unknownFields ?? [])
            addUnknown("merchantTokenMetadata.", metadata.unknownFields)
        }
        addUnknown("", unknownFields)
        return rows
    }
}
