import { evaluatorOf, type RuleCondition } from '../../domain/alert-rules/rule.ts';
import { filteredBy } from '../../domain/alert-rules/spend-series.ts';
import { ValidationError } from '../../domain/errors.ts';
import { type DeclaredDimension, declaredName, isDeclared } from '../../domain/spend/declared-dimensions.ts';

/** What an account declared as dimensions, now or before. */
export type FindDeclared = (accountId: string) => Promise<readonly DeclaredDimension[]>;

/** @throws ValidationError where the filter names a dimension that is not declared: the rule would never fire */
export const requireDeclared = async (
  findDeclared: FindDeclared,
  accountId: string,
  condition: RuleCondition,
): Promise<void> => {
  const wanted = filteredBy(evaluatorOf(condition).filter).find((name) => name.startsWith('dim:'));
  if (wanted === undefined) return;
  const declared = await findDeclared(accountId);
  if (declared.some((dimension) => isDeclared(dimension) && declaredName(dimension.name) === wanted)) return;
  const message = `${wanted.slice('dim:'.length)} is not a dimension of the account: declare it with PUT /dimensions`;
  throw new ValidationError([{ path: 'config.filter.dim', message }]);
};
