import StrictJSON

extension PaymentData {
    /// Creates payment data from the parsed plaintext. A field that is null counts as absent.
    ///
    /// - Throws: `JSONFault`, which names the field and contains no value.
    init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields.acceptingNull()
        applicationPrimaryAccountNumber = SensitiveText(
            try fields.digits("applicationPrimaryAccountNumber", 8...19))
        applicationExpirationDate = try fields.digits("applicationExpirationDate", 6...6)
        currencyCode = try fields.digits("currencyCode", 3...3)
        transactionAmount = try fields.amount("transactionAmount")
        cardholderName = try fields.string("cardholderName").map(SensitiveText.init)
        deviceManufacturerIdentifier = try fields.requiredString("deviceManufacturerIdentifier")
        paymentDataType = try fields.requiredString("paymentDataType")
        proof = try PaymentProof(fields.requiredFields("paymentData"))
        var responses: [AuthenticationResponse] = []
        for response in try fields.objects("authenticationResponses") {
            responses.append(try AuthenticationResponse(response))
        }
        authenticationResponses = responses
        merchantTokenIdentifier = try fields.string("merchantTokenIdentifier")
        if let metadata = try fields.fields("merchantTokenMetadata") {
            merchantTokenMetadata = try MerchantTokenMetadata(metadata)
        } else {
            merchantTokenMetadata = nil
        }
        unknownFields = fields.unknownFields
    }
}

extension PaymentData.PaymentProof {
    init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields
        onlinePaymentCryptogram = try fields.string("onlinePaymentCryptogram").map(SensitiveText.init)
        eciIndicator = try fields.string("eciIndicator")
        emvData = try fields.string("emvData").map(SensitiveText.init)
        encryptedPINData = try fields.string("encryptedPINData").map(SensitiveText.init)
        unknownFields = fields.unknownFields
    }
}

extension PaymentData.AuthenticationResponse {
    init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields
        merchantIdentifier = try fields.requiredString("merchantIdentifier")
        authenticationData = SensitiveText(try fields.requiredString("authenticationData"))
        transactionAmount = try fields.amount("transactionAmount")
        unknownFields = fields.unknownFields
    }
}

extension MerchantTokenMetadata {
    init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields
        var art: [CardArt] = []
        for picture in try fields.objects("cardArt") {
            var picture = picture
            art.append(
                CardArt(
                    name: try picture.string("name"), type: try picture.string("type"), url: try picture.string("url")))
        }
        cardArt = art
        if let metadata = try fields.fields("cardMetadata") {
            cardMetadata = try CardMetadata(metadata)
        } else {
            cardMetadata = nil
        }
        unknownFields = fields.unknownFields
    }
}

extension MerchantTokenMetadata.CardMetadata {
    init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields
        cardCountry = try fields.string("cardCountry")
        expirationDate = try fields.string("expirationDate")
        fpanSuffix = try fields.string("fpanSuffix")
        longDescription = try fields.string("longDescription")
        shortDescription = try fields.string("shortDescription")
        unknownFields = fields.unknownFields
    }
}

extension JSONFields {
    /// Returns a required string that consists of decimal digits. `count` is the permitted number of digits.
    mutating func digits(_ name: String, _ count: ClosedRange<Int>) throws(JSONFault) -> String {
        let text = try requiredString(name)
        guard count.contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            let expected = count.count == 1 ? "\(count.lowerBound)" : "\(count.lowerBound) to \(count.upperBound)"
            throw JSONFault("'\(name)' is not a string of \(expected) digits")
        }
        return text
    }

    /// Returns a required amount, which is a JSON number or a JSON string.
    fileprivate mutating func amount(_ name: String) throws(JSONFault) -> TransactionAmount {
        switch try value(name) {
        case .number(let text): return TransactionAmount(text: text, isString: false)
        case .string(let text): return TransactionAmount(text: text, isString: true)
        case .some(let other): throw JSONFault("'\(name)' is \(other.kind), expected a number or a string")
        case .none: throw JSONFault("'\(name)' is missing, expected a number or a string")
        }
    }

    /// Returns the objects of an array; no objects if the field is missing.
    fileprivate mutating func objects(_ name: String) throws(JSONFault) -> [JSONFields] {
        guard let value = try value(name) else { return [] }
        guard case .array(let items) = value else {
            throw JSONFault("'\(name)' is \(value.kind), expected an array of objects")
        }
        var objects: [JSONFields] = []
        for item in items {
            guard case .object(let object) = item else {
                throw JSONFault("'\(name)' contains \(item.kind), expected an array of objects")
            }
            objects.append(JSONFields(object, at: "\(name).").acceptingNull())
        }
        return objects
    }

    /// The fields that were not read so far. So each initializer must use this property after it has read all fields
    /// that it knows.
    fileprivate var unknownFields: [PaymentData.UnknownField] {
        unknown.map { .init(name: $0.name, json: SensitiveText(JSONText.compact($0.value))) }
    }
}
