/** What the FOCUS specification says of a column, in its table of content constraints. */
export interface FocusColumn {
  readonly name: string;
  /** `Mandatory`, `Conditional`, `Recommended` or `Optional`. */
  readonly level: string;
  /** `String`, `Decimal`, `Date/Time` or `JSON`. */
  readonly type: string;
  readonly isNullable: boolean;
  readonly isNonNegative?: boolean;
  /** The only values that are allowed; of a subcategory, `category/subcategory`. */
  readonly values?: readonly string[];
}
