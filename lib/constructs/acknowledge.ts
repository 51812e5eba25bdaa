import { Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/** Says why rules of cdk-nag do not hold for a construct. @param reasons by the rule's name after `AwsSolutions-` */
export const acknowledge = (construct: IConstruct, reasons: Readonly<Record<string, string>>): void =>
  Validations.of(construct).acknowledge(
    ...Object.entries(reasons).map(([rule, reason]) => ({ id: `AwsSolutions-${rule}`, reason })),
  );
