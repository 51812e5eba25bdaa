import type { ReactNode } from 'react';

/** The part of a form that a group of fields needs. Methods, so that the form of more values is one. */
export interface FormPart<Values> {
  readonly values: Values;
  readonly errors: Readonly<Record<string, ReactNode>>;
  setFieldValue(name: keyof Values & string, value: Values[keyof Values]): void;
  clearFieldError(name: string): void;
  getInputProps(name: keyof Values & string, options?: { readonly type: 'checkbox' }): object;
}
