/// Asks a merchant whether to start a roll.
package struct RollConfirmationPage: HTMLPage {
    package let area = PageArea.keys
    package let template = PageTemplate.confirm

    package init() {}

    package func title(_ text: PageText) -> String { text[.rollTitle] }

    package func content(_ text: PageText) -> Any {
        ConfirmationContent(
            heading: text[.rollTitle], facts: [],
            paragraphs: [text[.rollGenerated], text[.rollContinues], text[.rollApple]], path: PortalPaths.roll,
            fields: [], isDangerous: false, button: text[.rollButton], cancelPath: PortalPaths.home,
            cancel: text[.rollCancel])
    }
}
