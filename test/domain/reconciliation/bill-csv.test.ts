import { describe, expect, it } from '@jest/globals';
import { ValidationError } from '../../../lambda/domain/errors.ts';
import { parseBillCsv } from '../../../lambda/domain/reconciliation/bill-csv.ts';

const problemOf = (csv: string): string => {
  try {
    parseBillCsv(csv);
  } catch (error) {
    if (error instanceof ValidationError) return error.message;
    throw error;
  }
  throw new Error('It was parsed.');
};

describe('an invoice', () => {
  it('is read whatever the order and case of its columns, with quotes, a byte order mark and CRLF', () => {
    expect(
      parseBillCsv(
        '\uFEFFAmount, Day ,model,note,scope,item\r\n"12.000000001",2026-11-20,gpt-4o,x,"proj, 1","gpt-4o, input"\r\n\r\n-5,2026-11-21,,,,Promotional credit\r\n',
      ),
    ).toEqual([
      { day: '2026-11-20', item: 'gpt-4o, input', model: 'gpt-4o', amountNanoUsd: 12_000_000_001 },
      { day: '2026-11-21', item: 'Promotional credit', model: null, amountNanoUsd: -5_000_000_000 },
    ]);
  });

  it('needs no more than days and amounts', () => {
    expect(parseBillCsv('day,amount\n2026-11-20,-0')).toEqual([
      { day: '2026-11-20', item: 'usage', model: null, amountNanoUsd: 0 },
    ]);
  });

  it('may say that it is in US dollars', () => {
    expect(parseBillCsv('day,amount,currency\n2026-11-20,1,usd\n2026-11-21,2,')).toHaveLength(2);
  });

  it('has no more lines of a day than can be stored', () => {
    const bill = (lines: number) => `day,amount\n${'2026-11-20,1\n'.repeat(lines)}`;
    expect(parseBillCsv(bill(500))).toHaveLength(500);
    expect(problemOf(bill(501))).toContain('has 501 lines for 2026-11-20; the limit is 500');
  });

  it.each([
    ['', 'has no lines'],
    ['day,amount', 'has no lines'],
    ['date,amount\n2026-11-20,1', 'has no column day'],
    ['day,model\n2026-11-20,gpt-4o', 'has no column amount'],
    ['day,amount\n20.11.2026,1', 'line 2: day must be a day'],
    ['day,amount\n2026-02-30,1', 'line 2: day must be a day'],
    ['day,amount\n2026-11-20,1\n2026-11-20,"1,50"', 'line 3: amount must be USD'],
    ['day,amount\n2026-11-20,$1', 'amount must be USD'],
    ['day,amount\n2026-11-20,1e3', 'amount must be USD'],
    ['day,amount\n2026-11-20,1.0000000001', 'amount must be USD'],
    ['day,amount\n2026-11-20,1000000', 'amount must be USD'],
    ['day,amount\n2026-11-20,NaN', 'amount must be USD'],
    ['day,amount,currency\n2026-11-20,1,USD\n2026-11-20,1,EUR', 'line 3: currency is EUR'],
    ['day,amount,Billing Currency\n2026-11-20,1,eur', 'line 2: billing currency is eur'],
    ['day,amount\n2026-11-20,1,2', 'Invalid Record Length'],
    ['day,amount\n2026-11-20,"1', 'Quote Not Closed'],
    [`day,amount,item\n2026-11-20,1,${'x'.repeat(201)}`, 'line 2: item is longer'],
  ])('%j is refused: %s', (csv, problem) => {
    expect(problemOf(csv)).toContain(problem);
  });
});
