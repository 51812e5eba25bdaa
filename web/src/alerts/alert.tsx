import { getRouteApi } from '@tanstack/react-router';
import { BellOff } from 'lucide-react';
import { useApi } from '../app.ts';
import { BackLink } from '../components/links.tsx';
import { Loaded, PageHead } from '../components/page.tsx';
import { useKeyNames } from '../spend/use-key-names.ts';
import { AlertCard } from './alert-card.tsx';
import { Cause } from './cause.tsx';

/** The page of one alert, which mails link to. */
export const OneAlert = () => {
  const { alertId } = getRouteApi('/members/alerts/$alertId').useParams();
  const keyNames = useKeyNames();
  const query = useApi().useQuery('get', '/alerts/{id}', { params: { path: { id: alertId } } });
  return (
    <div className="page">
      <PageHead title="Alert" back={<BackLink to="/alerts">All alerts</BackLink>} />
      <Loaded
        query={query}
        title="The alert could not be loaded"
        height={178}
        missing={{ icon: BellOff, title: 'Alert not found', text: 'It may belong to a different account.' }}
      >
        {(alert) => (
          <>
            <AlertCard isPage alert={alert} final={alert.final} keyNames={keyNames} />
            <Cause alert={alert} keyNames={keyNames} />
          </>
        )}
      </Loaded>
    </div>
  );
};
