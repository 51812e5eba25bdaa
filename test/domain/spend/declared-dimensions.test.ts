import { describe, expect, it } from '@jest/globals';
import { ValidationError } from '../../../lambda/domain/errors.ts';
import {
  declare,
  declaredAt,
  declaredDuring,
  isDeclared,
  MAX_DECLARED_EVER,
} from '../../../lambda/domain/spend/declared-dimensions.ts';

const [NOON, ONE, TWO] = ['2026-11-20T12:00:00.000Z', '2026-11-20T13:00:00.000Z', '2026-11-20T14:00:00.000Z'];

describe('declare', () => {
  it('ends the period of a missing name, and begins another when it is declared again', () => {
    const removed = declare(declare([], ['team'], NOON), [], ONE);
    expect(removed).toEqual([{ name: 'team', periods: [{ from: NOON, until: ONE }] }]);
    expect(removed.map(isDeclared)).toEqual([false]);
    const again = declare(removed, ['team'], TWO);
    expect(again).toEqual([
      {
        name: 'team',
        periods: [
          { from: NOON, until: ONE },
          { from: TWO, until: null },
        ],
      },
    ]);
    expect(declaredAt(again, NOON)).toEqual(['dim:team']);
    expect(declaredAt(again, ONE)).toEqual([]);
    expect(declaredAt(again, '2026-11-20T11:59:59.999Z')).toEqual([]);
    expect(declaredAt(again, '2026-12-01T00:00:00.000Z')).toEqual(['dim:team']);
  });

  it('bounds the names and the periods that an account can make', () => {
    let declared = declare([], [], NOON);
    for (let n = 0; n < MAX_DECLARED_EVER; n++) declared = declare(declared, [`name-${n}`], ONE);
    expect(() => declare(declared, ['one-more'], TWO)).toThrow(ValidationError);
    for (let n = 0; n < 50; n++) declared = declare(declared, n % 2 === 0 ? ['name-0'] : [], TWO);
    expect(declared).toHaveLength(MAX_DECLARED_EVER);
    expect(declared[0]?.periods).toHaveLength(20);
    expect(
      declare(declared, ['name-1'], TWO)
        .filter(isDeclared)
        .map(({ name }) => name),
    ).toEqual(['name-1']);
  });
});

it('knows the days during which a name was declared', () => {
  const team = { name: 'team', periods: [{ from: NOON, until: '2026-11-22T01:00:00.000Z' }] };
  expect(['19', '20', '21', '22', '23'].map((day) => declaredDuring(team, `2026-11-${day}`))).toEqual([
    false,
    true,
    true,
    true,
    false,
  ]);
});
