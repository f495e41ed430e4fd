// Package workflow holds the rules of a research without any input or output: what
// comes next after something happened, how large its tree is, and when a failed
// task is tried again.
package workflow

// Status is where a research stands.
type Status string

// The statuses of a research.
const (
	Asking    Status = "asking"
	Ready     Status = "ready"
	Running   Status = "running"
	Reporting Status = "reporting"
	Completed Status = "completed"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
	Paused    Status = "paused"
)

// Ended reports whether nothing more happens to the research.
func (s Status) Ended() bool {
	return s == Completed || s == Failed || s == Cancelled
}

// Valid reports whether s is one of the statuses.
func (s Status) Valid() bool {
	switch s {
	case Asking, Ready, Running, Reporting, Completed, Failed, Cancelled, Paused:
		return true
	default:
		return false
	}
}

// QueryStatus is where a query stands.
type QueryStatus string

// The statuses of a query.
const (
	QueryProcessing QueryStatus = "processing"
	QueryCompleted  QueryStatus = "completed"
	QueryFailed     QueryStatus = "failed"
)

// SiteStatus is where a website of a query stands.
type SiteStatus string

// The statuses of a website.
const (
	SitePending  SiteStatus = "pending"
	SiteScraping SiteStatus = "scraping"
	SiteScraped  SiteStatus = "scraped"
	SiteAnalyzed SiteStatus = "analyzed"
	SiteFailed   SiteStatus = "failed"
)
