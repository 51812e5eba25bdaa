import { allowancesGroup, budgetsGroup } from './budgets/group.ts';
import { testGroup } from './test-group.ts';

testGroup(budgetsGroup);
testGroup(allowancesGroup);
