import type { Projects } from '../../data/accounts/projects.ts';
import type { ServiceKeys } from '../../data/accounts/service-keys.ts';
import { ValidationError } from '../../domain/errors.ts';
import { evaluatorOf, type RuleCondition } from '../../domain/limits/rule.ts';
import { filteredBy } from '../../domain/limits/spend-series.ts';
import { type DeclaredDimension, declaredName, isDeclared } from '../../domain/spend/declared-dimensions.ts';

export interface KnownNames {
  /** What an account declared as dimensions, now or before. */
  readonly findDeclared: (accountId: string) => Promise<readonly DeclaredDimension[]>;
  readonly projects: Pick<Projects, 'list'>;
  readonly keys: Pick<ServiceKeys, 'list'>;
}

/** @throws ValidationError where the filter names a key, project or dimension that the account does not have: the rule would never fire */
export const requireKnown = async (
  { findDeclared, projects, keys }: KnownNames,
  accountId: string,
  condition: RuleCondition,
): Promise<void> => {
  const { filter } = evaluatorOf(condition);
  const problem = (name: string, message: string) => {
    const path = condition.type === 'budget' ? 'filter' : 'config.filter';
    return new ValidationError([{ path: `${path}.${name}`, message }]);
  };
  const { project, keyId } = filter ?? {};
  if (keyId !== undefined && !(await keys.list(accountId)).some((key) => key.keyId === keyId))
    throw problem('key', `${keyId} is not a key of the account: see GET /keys`);
  if (project !== undefined && !(await projects.list(accountId)).some(({ projectId }) => projectId === project))
    throw problem('project', `${project} is not a project of the account: see GET /projects`);
  const wanted = filteredBy(filter).find((name) => name.startsWith('dim:'));
  if (wanted === undefined) return;
  const declared = await findDeclared(accountId);
  if (declared.some((dimension) => isDeclared(dimension) && declaredName(dimension.name) === wanted)) return;
  throw problem(
    'dim',
    `${wanted.slice('dim:'.length)} is not a dimension of the account: declare it with PUT /dimensions`,
  );
};
