import ArgumentParser

/// Names of Apple's and ours, spelt on the command line as everywhere else.
package enum AlgorithmArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case ecV1 = "EC_v1"
    case rsaV1 = "RSA_v1"
}

package enum PurposeArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case paymentProcessing, identity
}

/// The states a key pair may be imported in.
package enum ImportStateArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case standby, current, retiring
}
